import type { DeclaredEpoch, IssuedIds, OtherIssuer } from '@sameriver/core';

/** Records of one logical stream beyond this number push out the one that was written longest ago. */
export const ISSUERS_KEPT = 32;

/** What one process has issued on one logical stream under one epoch. */
export interface IssuedRecord {
  /** Of the logical stream: a hash of its key (L4). */
  readonly stream: string;
  /** Of this record: a later one of the same name takes its place. Begins with that of its process. */
  readonly issuer: string;
  /** `service.instance.id`, or host and process id. */
  readonly instance: string;
  /** Declared by the log. */
  readonly epoch: DeclaredEpoch | undefined;
  /** Milliseconds since it was last seen that there were more. */
  readonly writtenAgo: number;
  readonly ids: IssuedIds;
}

/** A record as it is read: how long ago it was written is measured by the clock of the index. */
export interface KnownIssuer extends OtherIssuer {
  readonly issuer: string;
}

export interface KnownIssuers {
  readonly issuers: readonly KnownIssuer[];
  /** Records that could not be read, and were passed over. */
  readonly unreadable: number;
}

/**
 * Which instance issued which ids under which epoch, as far as several instances tell each other.
 * Both calls may fail or never settle: then verdicts are what they are without an index. What does
 * not settle is given up after a minute, and after twice as long each time that happens again.
 */
export interface OriginIndex {
  /** Called from time to time and at the end of connections, never for an event. */
  issued(records: readonly IssuedRecord[]): Promise<void>;
  /** Called for a reconnect whose cursor this process cannot place, or places by its own log alone. */
  issuersOf(stream: string): Promise<KnownIssuers>;
}
