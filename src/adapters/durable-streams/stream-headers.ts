import { InvalidInputError } from '../../sessions/domain/errors.js';

/** Names of headers of the protocol. */
export const HEADERS = {
  nextOffset: 'Stream-Next-Offset',
  upToDate: 'Stream-Up-To-Date',
  cursor: 'Stream-Cursor',
  closed: 'Stream-Closed',
  ttl: 'Stream-TTL',
  expiresAt: 'Stream-Expires-At',
  seq: 'Stream-Seq',
  producerId: 'Producer-Id',
  producerEpoch: 'Producer-Epoch',
  producerSeq: 'Producer-Seq',
  expectedSeq: 'Producer-Expected-Seq',
  receivedSeq: 'Producer-Received-Seq',
  forkedFrom: 'Stream-Forked-From',
  forkOffset: 'Stream-Fork-Offset',
  forkSubOffset: 'Stream-Fork-Sub-Offset',
  sseEncoding: 'Stream-SSE-Data-Encoding',
} as const;

/** The headers of a request. */
export class RequestHeaders {
  constructor(private readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>) {}

  get(name: string): string | undefined {
    const value = this.headers[name.toLowerCase()];
    return typeof value === 'string' ? value : value?.[0];
  }

  /** Only `true` closes a stream; any other value is ignored. */
  get closes(): boolean {
    return this.get(HEADERS.closed)?.toLowerCase() === 'true';
  }

  /** Type and subtype, without parameters. */
  get contentType(): string | undefined {
    const type = this.get('Content-Type')?.split(';', 1)[0]?.trim().toLowerCase();
    return type === '' ? undefined : type;
  }

  get lifetime(): Lifetime {
    const [ttl, expiresAt] = [this.get(HEADERS.ttl), this.get(HEADERS.expiresAt)];
    if (ttl !== undefined && expiresAt !== undefined) {
      throw new InvalidInputError('cannot be combined with Stream-Expires-At', HEADERS.ttl);
    }
    return {
      ...(ttl !== undefined && { ttlSeconds: wholeNumber(ttl, HEADERS.ttl) }),
      ...(expiresAt !== undefined && { expiresAt: momentOf(expiresAt) }),
    };
  }

  get producer(): Producer | undefined {
    const names = [HEADERS.producerId, HEADERS.producerEpoch, HEADERS.producerSeq];
    const [id, epoch, seq] = names.map((name) => this.get(name));
    if (id === undefined && epoch === undefined && seq === undefined) return undefined;
    if (!id || epoch === undefined || seq === undefined) {
      throw new InvalidInputError(
        'must come with Producer-Epoch and Producer-Seq, none of them empty',
        HEADERS.producerId,
      );
    }
    return {
      id,
      epoch: wholeNumber(epoch, HEADERS.producerEpoch),
      seq: wholeNumber(seq, HEADERS.producerSeq),
    };
  }
}

/** How long a stream lives. */
export interface Lifetime {
  readonly ttlSeconds?: number;
  readonly expiresAt?: string;
}

/** Who appends, and which of its appends this is. */
export interface Producer {
  readonly id: string;
  readonly epoch: number;
  readonly seq: number;
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

export function wholeNumber(text: string, name: string): number {
  const value = /^(0|[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value))
    throw new InvalidInputError('must be a whole number without sign or leading zeros', name);
  return value;
}

function momentOf(text: string): string {
  if (!RFC3339.test(text) || Number.isNaN(Date.parse(text))) {
    throw new InvalidInputError('must be a time such as 2026-11-01T12:00:00Z', HEADERS.expiresAt);
  }
  return text;
}
