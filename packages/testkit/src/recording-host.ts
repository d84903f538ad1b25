import { RecordingRecorder } from './recording-recorder.ts';
import { RecordingTimeline } from './recording-timeline.ts';

/** Everything that a tap works with, for tests: it remembers what it was told and decides nothing. */
export class RecordingHost {
  readonly timeline: RecordingTimeline;
  readonly recorder: RecordingRecorder = new RecordingRecorder();
  /** Callbacks of timers that have neither been cancelled nor fired. */
  readonly timers: Set<() => void> = new Set();
  /** What `now` answers; a test moves it. */
  clock = 1000;
  /** Targets whose requests are to be skipped. */
  readonly ignored: Set<string> = new Set();

  constructor(role: 'client' | 'server') {
    this.timeline = new RecordingTimeline(role);
  }

  now(): number {
    return this.clock;
  }

  later(callback: () => void): () => void {
    this.timers.add(callback);
    return () => {
      this.timers.delete(callback);
    };
  }

  ignore({ target }: { target: string }): boolean {
    return this.ignored.has(target);
  }

  /** Lets every waiting timer elapse. */
  elapse(): void {
    for (const callback of [...this.timers]) {
      this.timers.delete(callback);
      callback();
    }
  }
}
