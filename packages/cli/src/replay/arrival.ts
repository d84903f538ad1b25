/** A request as it arrived. */
export interface Arrival {
  readonly method: string;
  readonly target: string;
  readonly header: (name: string) => string | undefined;
}
