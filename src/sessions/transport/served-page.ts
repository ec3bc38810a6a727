import { SetMetadata } from '@nestjs/common';

/** The common subset of the requests of Express and Fastify that pages need. */
export interface PageRequest {
  readonly originalUrl: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The common subset of their responses. */
export interface PageResponse {
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
}

/** Hides a controller of pages from OpenAPI, without importing the optional `@nestjs/swagger`. */
export const NotDocumented = SetMetadata('swagger/apiExcludeController', [true]);

export function setHeaders(response: PageResponse, headers: Readonly<Record<string, string>>): void {
  response.removeHeader('X-Powered-By');
  for (const [name, value] of Object.entries(headers)) response.header(name, value);
}

/** Text as a part of HTML, also in an attribute. */
export function escapedHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
