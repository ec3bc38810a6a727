import { readFileSync } from 'node:fs';
import { Controller, Get, Header } from '@nestjs/common';

const page = readFileSync(new URL('../../chat-page/page.html', import.meta.url), 'utf8');

@Controller()
export class PageController {
  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  show(): string {
    return page;
  }
}
