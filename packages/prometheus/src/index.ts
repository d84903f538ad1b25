export type { PrometheusRegistry } from './bridge.ts';
export { bridgeMetrics } from './bridge.ts';
export { labelName, metricName } from './names.ts';
