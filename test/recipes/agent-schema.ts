import { z } from 'zod';

/*
 * The agent's configuration, after the tables of its components (collector-contrib 0.128). Strict, as
 * a Collector is: it refuses to start with a key that it does not know. The gateway needs none: a
 * real one is started with its file.
 */

const duration = z.string().regex(/^(\d+(ms|s|m|h))+$/);
const percentage = z.number().int().min(1).max(100);
const endpoint = z.string().regex(/^(\$\{env:[A-Z_]+:-[\w.-]+\}|[\w.-]+):\d+$/);
const listener = z.strictObject({ endpoint });

const loadBalancing = z.strictObject({
  routing_key: z.enum(['traceID', 'service', 'metric', 'resource', 'streamID', 'attributes']),
  protocol: z.strictObject({
    otlp: z.strictObject({
      tls: z.strictObject({ insecure: z.boolean() }),
      timeout: duration,
      retry_on_failure: z.strictObject({ enabled: z.boolean(), max_elapsed_time: duration }),
    }),
  }),
  resolver: z.strictObject({
    dns: z.strictObject({
      hostname: z.string().min(1),
      port: z.string().regex(/^\d+$/),
      interval: duration,
    }),
  }),
});

const pipeline = z.strictObject({
  receivers: z.array(z.literal('otlp')).min(1),
  processors: z.array(z.literal('memory_limiter')),
  exporters: z.array(z.literal('loadbalancing')).min(1),
});

export const agentConfig: z.ZodType = z.strictObject({
  receivers: z.strictObject({
    otlp: z.strictObject({ protocols: z.strictObject({ grpc: listener, http: listener }) }),
  }),
  processors: z.strictObject({
    memory_limiter: z.strictObject({
      check_interval: duration,
      limit_percentage: percentage,
      spike_limit_percentage: percentage,
    }),
  }),
  exporters: z.strictObject({ loadbalancing: loadBalancing }),
  service: z.strictObject({
    pipelines: z.record(z.string().regex(/^(traces|metrics|logs)(\/\w+)?$/), pipeline),
  }),
});
