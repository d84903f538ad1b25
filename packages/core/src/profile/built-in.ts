import { HTTP_PROFILES } from './built-in/http.ts';
import { WEBSOCKET_PROFILES } from './built-in/websocket.ts';
import { BINARY_PROFILES } from './built-in/websocket-binary.ts';
import type { Profile } from './profile.ts';

/** The protocols known without configuration; facts and sources: `docs/spec/profiles.md`. */
export const BUILT_IN_PROFILES: readonly Profile[] = [
  ...HTTP_PROFILES,
  ...BINARY_PROFILES,
  ...WEBSOCKET_PROFILES,
];
