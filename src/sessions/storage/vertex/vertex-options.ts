import type { Clock } from '../../domain/process/clock.js';

/** Options of the store in Vertex AI. */
export interface VertexSessionStorageOptions {
  /** The Google Cloud project. Not needed if engines are given by their full resource names. */
  readonly project?: string | undefined;
  /** The region, such as `us-central1`. */
  readonly location?: string | undefined;
  /** The engine of app names that name none: its id, or `projects/…/locations/…/reasoningEngines/…`. */
  readonly reasoningEngine?: string | undefined;
  /** The address of the API. Default: `https://{location}-aiplatform.googleapis.com`. */
  readonly endpoint?: string | undefined;
  /** Timeout of a call, with its retries. Default: 10,000. */
  readonly timeLimitMs?: number | undefined;
  /** How long Vertex AI may take to create or delete a session. Default: 30,000. */
  readonly operationLimitMs?: number | undefined;
  /** Declares that no other process writes these sessions. Turns, leases and partial events need it. Default: false. */
  readonly singleProcess?: boolean | undefined;
  /** Returns an access token, instead of `google-auth-library`. Called again with `true` if Google refused the last one. */
  readonly accessToken?: AccessTokenSource | undefined;
  readonly clock?: Clock | undefined;
}

/** Returns an OAuth access token; a new one if `isRefused`. */
export type AccessTokenSource = (isRefused: boolean) => Promise<string>;

export const DEFAULT_TIME_LIMIT_MS = 10_000;
export const DEFAULT_OPERATION_LIMIT_MS = 30_000;
