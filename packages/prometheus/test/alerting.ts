import type { RuleTest } from './promtool.ts';

export const OF_CLIENTS =
  'job="orders", event_stream_protocol_name="sse", event_stream_role="client"';
export const CLIENT_LABELS = { event_stream_protocol_name: 'sse', event_stream_role: 'client' };

/** At how many minutes how many alerts of a name fire. */
export type Firing = ReadonlyArray<readonly [at: number, count: number]>;

export const firing = (alert: string, fires: Firing): NonNullable<RuleTest['expect']> =>
  fires.map(([at, count]) => ({
    expr: `count(ALERTS{alertname="EventStream${alert}", alertstate="firing"})`,
    at,
    is: count === 0 ? {} : { '{}': count },
  }));

/** What one alert says, label by label and word by word. */
export function told(
  alertname: string,
  at: number,
  labels: Readonly<Record<string, string>>,
  summary: string,
  description: string,
): NonNullable<RuleTest['alerts']>[number] {
  const runbook_url = `https://unpkg.com/@sameriver/prometheus/runbooks/${alertname}.md`;
  const exp_annotations = { summary, description, runbook_url };
  return {
    alertname,
    at,
    exp_alerts: [{ exp_labels: { job: 'orders', ...labels }, exp_annotations }],
  };
}
