import type { ServerResponse } from 'node:http';
import { Controller, Get, Inject, type INestApplication, Res } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { SessionService, SessionsModule } from '../../src/index.js';
import { KEY } from './support/apps.js';

/** Streams the events of a session until the watch ends. */
@Controller('events')
class EventsController {
  constructor(@Inject(SessionService) private readonly sessions: SessionService) {}

  @Get()
  async follow(@Res() response: ServerResponse): Promise<void> {
    response.write('begin\n');
    for await (const { id } of this.sessions.watch(KEY)) response.write(`${id}\n`);
    response.end('end\n');
  }
}

describe('a server with a request that watches a session', () => {
  let app: INestApplication;

  beforeEach(async () => {
    const module = await Test.createTestingModule({
      imports: [SessionsModule.forRoot({ provider: 'memory' })],
      controllers: [EventsController],
    }).compile();
    app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
  });
  afterEach(() => app.close());

  it('ends the watch and the request when it closes', async () => {
    const sessions = app.get(SessionService, { strict: false });
    await sessions.createSession(KEY);
    const response = await fetch(`${await app.getUrl()}/events`, { headers: { connection: 'close' } });
    const [body] = await Promise.all([response.text(), app.close()]);
    expect(body).toBe('begin\nend\n');
  });
});
