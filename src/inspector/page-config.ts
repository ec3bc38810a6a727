/** What the page can do: messages and approvals need `AgentsRestModule`, summaries `SummarizerRestModule`. */
export type InspectorAction = (typeof INSPECTOR_ACTIONS)[number];

export const INSPECTOR_ACTIONS = ['message', 'approve', 'append', 'rewind', 'fork', 'summarise', 'delete'] as const;

/** What the server says to the page, as `config.json` beside it. */
export interface PageConfig {
  /** The routes of sessions, relative to the page. */
  readonly api: string;
  /** What the page offers to do. The routes decide what is allowed. */
  readonly actions: readonly InspectorAction[];
  /** An app whose agent one can talk to, for those who have no sessions yet. */
  readonly demoApp?: string;
  /** Whether the app has the routes of search. */
  readonly search: boolean;
  /** Whether the browser has the cookie of a sign-in, which the scripts of the page cannot see. */
  readonly isSignedIn?: boolean;
  /** Where the traces of a session or of a turn are. */
  readonly traceUrl?: string;
}
