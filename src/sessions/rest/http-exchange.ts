import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { InvalidInputError } from '../domain/errors.js';
import { pageLinks } from './page-links.js';
import { pathOf } from './request-target.js';

/** What Express and Fastify have in common, as far as it is used here. */
interface FrameworkRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly originalUrl?: string;
  readonly url: string;
  readonly body?: unknown;
  readonly params?: Readonly<Record<string, string | undefined>>;
}

interface FrameworkResponse {
  /** Of Fastify, whose own object is another one than Node's. */
  readonly raw?: ServerResponse;
  hijack?(): void;
  status(code: number): unknown;
  header(name: string, value: string): unknown;
}

/** A request and its response, whichever framework carries them. */
export class HttpExchange {
  constructor(
    readonly request: FrameworkRequest,
    private readonly response: FrameworkResponse,
  ) {}

  static of(context: ExecutionContext): HttpExchange {
    const http = context.switchToHttp();
    return new HttpExchange(http.getRequest<FrameworkRequest>(), http.getResponse<FrameworkResponse>());
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  setHeader(name: string, value: string): void {
    this.response.header(name, value);
  }

  setStatus(code: number): void {
    this.response.status(code);
  }

  /** Path and query as they were asked for. */
  get url(): string {
    return this.request.originalUrl ?? this.request.url;
  }

  /** The path alone, without a slash at its end. */
  get path(): string {
    return pathOf(this.url).replace(/\/+$/, '');
  }

  /** Whether something was sent, read or not. */
  hasBody(): boolean {
    const length = this.header('content-length');
    return (length !== undefined && length !== '0') || this.header('transfer-encoding') !== undefined;
  }

  /**
   * Keeps the answer out of every cache. Shared state changes without the version, so that no tag means that an
   * answer which somebody has is still good.
   */
  forbidCaching(): void {
    this.setHeader('Cache-Control', 'no-store');
    // Only where it is there: deleting makes of the headers an object that is slow to read.
    if (this.request.headers['if-none-match'] !== undefined) delete this.request.headers['if-none-match'];
    if (this.response.raw === undefined) keepOnlyVersionTags(this.response as unknown as ServerResponse);
  }

  /** Says the version of a session as an entity tag, for `If-Match`. */
  tagVersion(version: number): void {
    this.setHeader('ETag', `"${version}"`);
  }

  /** The version that the caller wants to find, of `If-Match`. */
  expectedVersion(): number | undefined {
    const tag = this.header('if-match');
    if (tag === undefined || tag.trim() === '*') return undefined;
    const version = /^\s*(?:W\/)?"(\d{1,15})"\s*$/.exec(tag)?.[1];
    if (version === undefined) throw new InvalidInputError('must be one entity tag, such as "5"', 'If-Match');
    return Number(version);
  }

  /** Says where the other pages are. */
  linkPages(found: Parameters<typeof pageLinks>[1]): void {
    const links = pageLinks(this.url, found);
    if (links !== undefined) this.setHeader('Link', links);
  }

  /** Takes the response over, to write to it bit by bit. */
  takeOver(): ServerResponse {
    this.response.hijack?.();
    return this.response.raw ?? (this.response as unknown as ServerResponse);
  }
}

/** Express tags answers by their bytes, which callers would take for versions. */
function keepOnlyVersionTags(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse;
  response.writeHead = (...head: unknown[]): ServerResponse => {
    if (!/^"\d+"$/.test(String(response.getHeader('etag')))) response.removeHeader('etag');
    return writeHead(...head);
  };
}

/** By a name that leaves no class at run time: pipes of the app may copy what is of a class, here the connection as well. */
export type CurrentExchange = HttpExchange;

/** Hands a controller the exchange that it answers. */
export const Exchange = createParamDecorator((_data: unknown, context: ExecutionContext) => HttpExchange.of(context));
