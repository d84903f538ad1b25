/**
 * 20 names and `_OTHER` keep the widest instrument below 2,000 series, where the SDK would begin to
 * pour everything new into one overflow series.
 */
const MOST_NAMES = 20;
const OTHER = '_OTHER';
const LONGEST = 64;

/** Profiles whose wire protocol has a name of its own. */
const PROFILE_PROTOCOLS: Readonly<Record<string, string>> = {
  'mcp-2025': 'mcp_streamable_http',
  'mcp-2026': 'mcp_streamable_http',
  'socket.io': 'socket_io',
};

/** @returns `event_stream.protocol.name` for the profile in force. */
export function protocolName(profile: string): string {
  return PROFILE_PROTOCOLS[profile] ?? profile.slice(0, LONGEST);
}

/** Bounds the names that become metric labels: users name profiles as they like. */
export function createProtocolLabels(): (profile: string) => string {
  const known = new Set<string>();
  return (profile) => {
    const name = protocolName(profile);
    if (known.has(name)) return name;
    if (known.size >= MOST_NAMES) return OTHER;
    known.add(name);
    return name;
  };
}
