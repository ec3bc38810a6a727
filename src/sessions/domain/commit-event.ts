/** The event of a commit: what a store needs to know of it, and the event itself as opaque JSON text. */
export interface CommitEvent {
  readonly id: string;
  readonly digest: string;
  readonly timestamp: number;
  /** Whether a shortened view may begin here. */
  readonly anchor: boolean;
  readonly payload: string;
}
