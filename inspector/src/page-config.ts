export type PageAction = 'message' | 'approve' | 'rewind' | 'fork' | 'summarise' | 'delete';

/** What the server says about this page: `GET config.json` beside it. */
export interface PageConfig {
  /** The routes of sessions, relative to the page. */
  readonly api: string;
  /** What the page offers to do. The routes decide what is allowed. */
  readonly actions: readonly PageAction[];
  /** An app whose agent one can talk to, for those who have no sessions yet. */
  readonly demoApp?: string;
}

export async function readConfig(): Promise<PageConfig> {
  const response = await fetch('config.json', { headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`config.json answered ${response.status}`);
  return (await response.json()) as PageConfig;
}
