const FLOOR = [22, 15] as const;

/** @param version As in `process.versions.node`. @returns Whether it lacks what the taps need. */
export function isBelowFloor(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === FLOOR[0] ? minor < FLOOR[1] : major < FLOOR[0];
}
