import type { Attachment, Instruments, MetricSource } from './instruments.ts';
import { attachSink } from './instruments.ts';
import type { MetricSink } from './metric-sink.ts';
import { metricSinks, onSinkChange } from './metric-sink.ts';

/** A source on every sink of the process. */
export interface SinkBinding extends Instruments {
  isEmpty(): boolean;
  /** Sinks that come later are not followed until `resume`. */
  pause(): void;
  resume(): void;
}

/** @param onChange Called when a sink has come or gone. */
export function createSinkBinding(source: MetricSource, onChange: () => void): SinkBinding {
  const attached = new Map<MetricSink, Attachment>();
  let pause: (() => void) | undefined;

  function follow(): void {
    const sinks = metricSinks();
    for (const sink of sinks) {
      if (!attached.has(sink)) join(sink);
    }
    for (const [sink, attachment] of attached) {
      if (sinks.has(sink)) continue;
      attachment.detach();
      attached.delete(sink);
    }
  }

  function join(sink: MetricSink): void {
    try {
      attached.set(sink, attachSink(sink, source));
    } catch {
      source.failed();
    }
  }

  return {
    isEmpty: () => attached.size === 0,
    record: (...measurement) => {
      for (const one of attached.values()) one.record(...measurement);
    },
    pause() {
      pause?.();
      pause = undefined;
    },
    resume() {
      if (pause !== undefined) return;
      pause = onSinkChange(() => {
        follow();
        onChange();
      });
      follow();
    },
  };
}
