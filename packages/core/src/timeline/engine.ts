import type { StreamObserver, StreamRequest } from '../connection.ts';
import type { HistoryMemory } from '../history-memory.ts';
import type { BinaryDecoder } from '../messages.ts';
import type { CompiledProfile } from '../profile/compile.ts';
import type { Place } from '../profile/place.ts';
import type { SpareScanner } from '../sse/spare-scanner.ts';
import type { StreamRegistry } from './registry.ts';

/**
 * What makes two deliveries the same event (G2). `payload`: id and payload bytes (default). `id`:
 * the id alone, payloads are not hashed. `canonical-json`: payloads compare as JSON with sorted
 * keys, which parses every event. A list: places of the application's idempotency key.
 */
export type Identity = 'payload' | 'id' | 'canonical-json' | readonly string[];

/** What all connections of one timeline share. */
export interface Engine {
  readonly registry: StreamRegistry;
  readonly mayCarryCursor: (request: StreamRequest) => boolean;
  /** In order: the user's, then the built-ins. */
  readonly profiles: readonly CompiledProfile[];
  readonly generic: { readonly sse: CompiledProfile; readonly websocket: CompiledProfile };
  /** The Stream-Continuity header speaks on any built-in protocol. */
  readonly continuity: CompiledProfile;
  readonly requestHeaders: readonly string[];
  readonly responseHeaders: readonly string[];
  readonly identity: Exclude<Identity, readonly string[]>;
  readonly identityKeys: readonly Place[];
  readonly streamKey: ((request: StreamRequest) => string | undefined) | undefined;
  readonly observer: StreamObserver;
  readonly decodeBinary: BinaryDecoder | undefined;
  readonly history: HistoryMemory;
  readonly scanners: SpareScanner;
}
