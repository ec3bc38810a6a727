import { Controller, Get, Headers, Inject, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { fileHeaders, pageHeaders } from '../sessions/transport/http-defaults.js';
import { type AppConfig, appConfig } from '../config/app.config.js';
import { type Endpoint, endpoints } from './endpoints.js';

const NAME = 'Agent Sessions for NestJS';

interface Response {
  setHeader(name: string, value: string): unknown;
}

interface Home {
  readonly name: string;
  readonly links: Readonly<Record<string, string>>;
}

/** The home page: HTML for browsers, JSON for other clients. */
@Controller()
@ApiExcludeController()
export class HomeController {
  constructor(@Inject(appConfig.KEY) private readonly config: AppConfig) {}

  @Get()
  home(@Headers('accept') accept = '', @Res({ passthrough: true }) response: Response): Home | string {
    const mounted = endpoints(this.config);
    response.setHeader('Vary', 'Accept');
    if (!/\btext\/html\b/i.test(accept)) {
      for (const [name, value] of Object.entries(fileHeaders())) response.setHeader(name, value);
      const links = mounted.map(({ name, path }) => [name.toLowerCase(), path]);
      return { name: NAME, links: Object.fromEntries(links) };
    }
    const headers = { 'Content-Type': 'text/html; charset=utf-8', ...pageHeaders() };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    return page(mounted);
  }
}

function page(mounted: readonly Endpoint[]): string {
  const rows = mounted.map(
    ({ name, path, description, isEndpoint = false }) =>
      `      <tr><th>${name}</th><td>${isEndpoint ? `<code>${path}</code>` : `<a href="${path}">${path}</a>`}</td>` +
      `<td>${description}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>${NAME}</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="data:," />
    <style>
      body { font: 1rem/1.6 system-ui, sans-serif; max-width: 56rem; margin: 3rem auto; padding: 0 1rem; color: #222; }
      th, td { text-align: left; padding: 0.2rem 1.5rem 0.2rem 0; vertical-align: top; }
      @media (prefers-color-scheme: dark) { body { background: #1c1c1e; color: #ddd; } a { color: #8ab4f8; } }
    </style>
  </head>
  <body>
    <h1>${NAME}</h1>
    <p>This server keeps the sessions of AI agents. <a href="/inspector">Look at them in the inspector.</a></p>
    <table>
${rows.join('\n')}
    </table>
  </body>
</html>
`;
}
