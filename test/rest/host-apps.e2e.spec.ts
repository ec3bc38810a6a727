import { readFileSync, readdirSync } from 'node:fs';
import {
  type INestApplication,
  UnauthorizedException,
  UnprocessableEntityException,
  ValidationPipe,
} from '@nestjs/common';
import { type Answer, RestApp, frameworks } from './rest-app.js';

const SESSIONS = '/apps/shop/users/ann/sessions';

/** A global pipe with the strictest options that also transforms. */
const PIPE = new ValidationPipe({
  whitelist: true,
  forbidNonWhitelisted: true,
  transform: true,
  validateCustomDecorators: true,
});

describe.each(frameworks)('the routes in an app with global pipes on %s', (framework) => {
  let app: RestApp;

  beforeAll(async () => {
    app = await RestApp.start(framework, { summarizer: {}, prepare: (host) => void host.useGlobalPipes(PIPE) });
    await app.request('POST', `${SESSIONS}/s`, {});
  });

  afterAll(async () => {
    await app.close();
  });

  it('receive bodies unchanged', async () => {
    const change = '{"stateDelta":{"__proto__":{"a":1},"constructor":2}}';
    const changed = await app.request('PATCH', `${SESSIONS}/s/state`, change);
    expect(changed.status).toBe(200);
    expect(changed.text).toContain('"stateDelta":{"__proto__":{"a":1},"constructor":2}');
    const appended = await app.request('POST', `${SESSIONS}/s/events`, '{"author":"user","__proto__":{"a":1}}');
    expect(appended.text).toContain('"__proto__":{"a":1}');
    expect((await app.request('POST', `${SESSIONS}/s/summary`, { force: true })).status).toBe(204);
  });

  it('do not reveal the framework', async () => {
    const answers = [
      await app.request('GET', `${SESSIONS}/s`),
      await app.request('GET', `${SESSIONS}/none`),
      await app.request('POST', SESSIONS, '{"a'),
    ];
    expect(answers.map(({ status, headers }) => [status, headers.get('x-powered-by')])).toEqual([
      [200, null],
      [404, null],
      [400, null],
    ]);
  });

  it('report invalid queries by their own errors', async () => {
    const detail = 'nope: is not known here; known are';
    for (const path of ['', '/s', '/s/events', '/s/summaries']) {
      const { body } = await app.request('GET', `${SESSIONS}${path}?nope=1`);
      expect(body).toMatchObject({ code: 'INVALID_INPUT', path: 'nope', detail: expect.stringContaining(detail) });
    }
  });
});

describe('compiled controllers', () => {
  const built = readdirSync('dist', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && !file.startsWith('inspector/page'))
    .map((file) => readFileSync(`dist/${file}`, 'utf8'))
    .join('\n');

  // Those that are made of a table have no types at all.
  it.each(['AppsController', 'EventStreamController', 'RunStreamController'])(
    'have no parameter class that a global pipe could instantiate: %s',
    (name) => {
      const ofMethods = new RegExp(
        String.raw`"design:paramtypes", \[([^\]]*)\]\),\s+__metadata[$\d]*\("design:returntype", \w+\)\s+\], ${name}\.prototype`,
        'g',
      );
      const kinds = [...built.matchAll(ofMethods)];
      expect(kinds.length).toBeGreaterThan(0);
      for (const [, given = ''] of kinds) expect(given).toMatch(/^Object(,\s*Object)*$/);
    },
  );
});

describe.each(frameworks)('the routes in any app on %s', (framework) => {
  let app: RestApp;

  beforeAll(async () => {
    app = await RestApp.start(framework, { prepare: refusePeople });
    await app.request('POST', `${SESSIONS}/s`, {});
  });

  afterAll(async () => {
    await app.close();
  });

  const append = (headers: Record<string, string>): Promise<Answer> =>
    app.request('POST', `${SESSIONS}/s/events`, { author: 'user' }, headers);

  it('ignore a trailing slash', async () => {
    expect((await app.request('GET', `${SESSIONS}/s/`)).body.id).toBe('s');
    const { headers } = await app.request('POST', `${SESSIONS}/`, { sessionId: 'slashed' });
    expect(headers.get('location')).toBe(`${SESSIONS}/slashed`);
  });

  it('accept bodies in UTF-8 only', async () => {
    for (const charset of ['iso-8859-1', '"windows-1252"']) {
      const type = `application/json; charset=${charset}`;
      const refused = await app.request('POST', SESSIONS, {}, { 'content-type': type });
      expect(refused).toMatchObject({ status: 415, body: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    }
    const type = 'application/json;Charset="UTF-8"';
    expect((await app.request('POST', SESSIONS, {}, { 'content-type': type })).status).toBe(201);
  });

  it('refuse an invalid Idempotency-Key', async () => {
    const before = (await app.request('GET', `${SESSIONS}/s`)).headers.get('etag');
    for (const key of ['', 'caf\u00e9']) {
      expect(await append({ 'idempotency-key': key })).toMatchObject({
        status: 400,
        body: { code: 'INVALID_INPUT', path: 'Idempotency-Key' },
      });
    }
    expect((await app.request('GET', `${SESSIONS}/s`)).headers.get('etag')).toBe(before);
  });

  it('name the header whose value is beyond the end of a log', async () => {
    const stream = `${SESSIONS}/s/events/stream`;
    const resumed = await app.request('GET', stream, undefined, { 'last-event-id': '99' });
    expect(resumed).toMatchObject({ status: 400, body: { path: 'Last-Event-ID' } });
    expect(await app.request('GET', `${stream}?afterSeq=99`)).toMatchObject({
      status: 400,
      body: { path: 'afterSeq' },
    });
  });

  it('forbid compression of streams, which would delay events', async () => {
    const { headers } = await app.request('HEAD', `${SESSIONS}/s/events/stream`);
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
  });

  it('return 500 if a store holds invalid JSON', async () => {
    const reading = jest.spyOn(app.sessions, 'getSession').mockRejectedValueOnce(new SyntaxError('Unexpected token'));
    expect(await app.request('GET', `${SESSIONS}/s`)).toMatchObject({ status: 500, body: { code: 'INTERNAL' } });
    reading.mockRestore();
  });

  it('pass on refusals by the app unchanged', async () => {
    expect(await app.request('GET', '/apps/shop/users/refused/sessions')).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHENTICATED', detail: 'The JSON Web Token has expired.' },
    });
  });

  it('use the reason phrase of the status as title', async () => {
    expect((await app.request('GET', '/apps/shop/users/people/sessions')).body).toMatchObject({
      status: 422,
      title: 'Unprocessable Entity',
      code: 'INVALID_INPUT',
    });
  });
});

/** A middleware of the app before the routes. */
function refusePeople(app: INestApplication): void {
  app.useGlobalGuards({
    canActivate(context) {
      const { url } = context.switchToHttp().getRequest<{ url: string }>();
      if (url.includes('/refused/')) throw new UnauthorizedException('The JSON Web Token has expired.');
      if (url.includes('/people/')) throw new UnprocessableEntityException('People are not served.');
      return true;
    },
  });
}
