/** Resources of the API, with the fields that the store uses. */
export interface VertexSession {
  readonly name: string;
  readonly userId: string;
  readonly createTime: string;
  readonly updateTime?: string | undefined;
  readonly expireTime?: string | undefined;
  readonly sessionState?: Readonly<Record<string, unknown>> | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

export interface VertexEvent {
  /** Missing in a request. */
  readonly name?: string | undefined;
  readonly author?: string | undefined;
  readonly invocationId?: string | undefined;
  readonly timestamp: string;
  readonly content?: unknown;
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly actions?: VertexActions | undefined;
  readonly eventMetadata?: VertexEventMetadata | undefined;
  /** The event as an ADK has it. */
  readonly rawEvent?: Readonly<Record<string, unknown>> | undefined;
}

export interface VertexActions {
  readonly stateDelta?: Readonly<Record<string, unknown>> | undefined;
  readonly artifactDelta?: unknown;
  readonly skipSummarization?: boolean | undefined;
  readonly escalate?: boolean | undefined;
  /** The API's name of `transferToAgent`. */
  readonly transferAgent?: string | undefined;
  readonly requestedAuthConfigs?: unknown;
}

interface VertexEventMetadata {
  readonly partial?: boolean | undefined;
  readonly turnComplete?: boolean | undefined;
  readonly interrupted?: boolean | undefined;
  readonly branch?: string | undefined;
  readonly longRunningToolIds?: readonly string[] | undefined;
  readonly customMetadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface EventPage {
  readonly sessionEvents?: readonly VertexEvent[] | undefined;
  readonly nextPageToken?: string | undefined;
}

export interface SessionPage {
  readonly sessions?: readonly VertexSession[] | undefined;
  readonly nextPageToken?: string | undefined;
}

export interface Operation {
  readonly name?: string | undefined;
  readonly done?: boolean | undefined;
  readonly error?: { readonly code?: number | undefined } | undefined;
  readonly response?: unknown;
}

/** The last part of a resource name. */
export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** A time of the API in epoch microseconds. */
export function parseTimeMicros(time: string): number {
  const [, seconds = '', fraction = ''] = /^(.*?)(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)$/.exec(time) ?? [];
  const zone = /(Z|[+-]\d\d:\d\d)$/.exec(time)?.[1] ?? 'Z';
  return Date.parse(`${seconds}${zone}`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/** A time of the API in epoch milliseconds. */
export function millisOf(time: string): number {
  return Math.floor(parseTimeMicros(time) / 1000);
}

/** Epoch microseconds as a time of the API. */
export function timeText(micros: number): string {
  const date = new Date(Math.floor(micros / 1000)).toISOString();
  return `${date.slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
}

/** A time to live for the API. */
export function ttlText(ttlMs: number): string {
  return `${ttlMs / 1000}s`;
}
