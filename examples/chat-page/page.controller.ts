import { readFileSync } from 'node:fs';
import { applyDecorators, Controller, Get, Header } from '@nestjs/common';
import { pageHeaders } from 'nestjs-agent-sessions/rest';

const [page, script] = ['page.html', 'page.js'].map((name) =>
  readFileSync(new URL(`../../chat-page/${name}`, import.meta.url), 'utf8'),
);

/** Only the scripts of this server run in the page, and no other site frames it. */
const Protected = () => applyDecorators(...Object.entries(pageHeaders()).map(([name, value]) => Header(name, value)));

@Controller()
export class PageController {
  @Get()
  @Protected()
  @Header('Content-Type', 'text/html; charset=utf-8')
  show(): string | undefined {
    return page;
  }

  @Get('page.js')
  @Protected()
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  script(): string | undefined {
    return script;
  }
}
