/** How much of a log was read. */
export interface Progress {
  readonly read: number;
  readonly total: number;
}
