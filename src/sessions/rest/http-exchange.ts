import type { ServerResponse } from 'node:http';
import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { AddressedRequest } from '../transport/client-address.js';
import { fileHeaders } from '../transport/http-defaults.js';
import { pageLinks, parseRequestPath } from './page-links.js';

/** The common subset of Express and Fastify that is used here. */
interface FrameworkRequest extends AddressedRequest {
  readonly method: string;
  readonly originalUrl?: string;
  readonly url: string;
  readonly body?: unknown;
  readonly query?: unknown;
  readonly params?: Readonly<Record<string, string | undefined>>;
}

interface FrameworkResponse {
  /** Node's response, on Fastify. */
  readonly raw?: ServerResponse;
  hijack?(): void;
  status(code: number): unknown;
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
}

/**
 * A request and its response, on Express or Fastify.
 *
 * @example const { request, nodeResponse } = HttpExchange.of(context);
 */
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

  /** Path and query of the original request. */
  get url(): string {
    return this.request.originalUrl ?? this.request.url;
  }

  /** The path alone, without a slash at its end. */
  get path(): string {
    return parseRequestPath(this.url).replace(/\/+$/, '');
  }

  /**
   * Sets `no-store` and `nosniff`, and removes `X-Powered-By`. Never answers 304: shared state changes without changing the version.
   */
  setSecurityHeaders(): void {
    this.setHeader('Cache-Control', 'no-store');
    for (const [name, value] of Object.entries(fileHeaders())) this.setHeader(name, value);
    this.response.removeHeader('X-Powered-By');
    // Only if present: deleting a key makes the headers object slow.
    if (this.request.headers['if-none-match'] !== undefined) delete this.request.headers['if-none-match'];
    if (this.response.raw === undefined) keepOnlyVersionTags(this.response as unknown as ServerResponse);
  }

  /** Sends the version of a session as `ETag`, for `If-Match`. */
  tagVersion(version: number): void {
    this.setHeader('ETag', `"${version}"`);
  }

  /** Sets the `Link` header to the other pages. */
  linkPages(found: Parameters<typeof pageLinks>[1]): void {
    const links = pageLinks(this.url, found);
    if (links !== undefined) this.setHeader('Link', links);
  }

  /** Node's response. */
  get nodeResponse(): ServerResponse {
    return this.response.raw ?? (this.response as unknown as ServerResponse);
  }

  /** Returns Node's response, for streaming. */
  takeOver(): ServerResponse {
    this.response.hijack?.();
    return this.nodeResponse;
  }
}

/** Express sets an `ETag` from a hash of the body, which clients would take for a version. */
function keepOnlyVersionTags(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse;
  response.writeHead = (...head: unknown[]): ServerResponse => {
    if (!/^"\d+"$/.test(String(response.getHeader('etag')))) response.removeHeader('etag');
    return writeHead(...head);
  };
}

/** A type without a class at run time: global pipes may copy objects of a class, here with the connection. */
export type CurrentExchange = HttpExchange;

/** Injects the exchange into a controller method. */
export const Exchange = createParamDecorator((_data: unknown, context: ExecutionContext) => HttpExchange.of(context));
