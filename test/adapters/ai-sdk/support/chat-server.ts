import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ChatTestModule } from './chat.module.js';

/** An instance in a process of its own, with a page: `chat-server.ts <framework> <database> <script of the page>`. */
async function serve([framework = '', database = '', script = '']: readonly string[]): Promise<void> {
  const adapter = framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
  const app = await NestFactory.create(ChatTestModule.over(database), adapter, { logger: false });
  const page =
    '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div id="root"></div><script src="/page.js"></script>';
  app.use((request: { readonly url?: string }, response: ServerResponse, next: () => void) => {
    if (request.url === '/page.js') send(response, 'text/javascript', readFileSync(script, 'utf8'));
    else if (request.url?.startsWith('/?') === true) send(response, 'text/html', page);
    else next();
  });
  await app.listen(0, '127.0.0.1');
  process.send?.(await app.getUrl());
}

function send(response: ServerResponse, type: string, body: string): void {
  response.writeHead(200, { 'Content-Type': type }).end(body);
}

void serve(process.argv.slice(3));
