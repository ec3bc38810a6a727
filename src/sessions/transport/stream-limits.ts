import { withDefaults } from '../../config/with-defaults.js';

/** The limits of streams, and of the memory of all answers. */
export interface StreamLimits {
  /** The maximum age of a stream. Then it ends, and its reader reconnects. Default: 3,600; 0 = no limit. */
  readonly maxAgeSeconds?: number | undefined;
  /** The interval at which the access rule is asked again. Default: 60; 0 = never. */
  readonly recheckSeconds?: number | undefined;
  /** How long a reader may take for one event of a stream, or read nothing of another answer. Default: 60; 0 = no limit. */
  readonly stallSeconds?: number | undefined;
  /**
   * Bytes that all answers of the process, streams included, hold for their readers. A client may have a quarter, or one answer.
   * Others wait, and then a reader has 5 seconds for what it was sent. Default: 67,108,864; 0 = no limit.
   */
  readonly maxBufferedBytes?: number | undefined;
  /**
   * Streams of server-sent events that one client may have open, in the process. A client is the signed-in user, or the address
   * of those who are not. Default: 100; 0 = no limit.
   */
  readonly maxStreamsPerClient?: number | undefined;
  /** The number of proxies in front that add to `X-Forwarded-For`, from which the address of a client comes. Default: 0. */
  readonly trustedProxies?: number | undefined;
}

/** The limits that hold where no others are given. */
export const DEFAULT_STREAM_LIMITS = {
  maxAgeSeconds: 3_600,
  recheckSeconds: 60,
  stallSeconds: 60,
  maxBufferedBytes: 67_108_864,
  maxStreamsPerClient: 100,
  trustedProxies: 0,
} satisfies StreamLimits;

/** All limits, with the defaults. */
export type AllStreamLimits = { readonly [Name in keyof typeof DEFAULT_STREAM_LIMITS]: number };

/** Fills in the defaults. */
export function streamLimits(given: StreamLimits = {}): AllStreamLimits {
  return withDefaults<AllStreamLimits>(given, DEFAULT_STREAM_LIMITS);
}
