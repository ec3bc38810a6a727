import type { Call } from '../transports/recording-service.js';

/** A request, the calls that it becomes, and the response. */
export interface RouteCase {
  readonly title: string;
  readonly route: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly calls: readonly Call[];
  /** What the service returns, by method. */
  readonly replies: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly received: unknown;
  /** Headers of the response; `null` for one that must be missing. */
  readonly responseHeaders?: Readonly<Record<string, string | null>>;
}
