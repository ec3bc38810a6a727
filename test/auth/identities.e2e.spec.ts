import { SessionsInspectorModule } from '../../src/inspector/index.js';
import { makeApiKey } from '../../src/sessions/auth/api-keys.js';
import {
  askApproval,
  plant,
  walkAsOwner,
  walkFields,
  walkFieldsAsOwner,
  walkRoutes,
} from '../adapters/all/support/walk.js';
import { OTHER_PAGE, WalkApp } from '../adapters/all/support/walk-app.js';
import { SECRET } from '../adapters/all/support/walk-requests.js';
import { plantServers, walkMethods, walkStream } from '../adapters/all/support/walk-calls.js';
import type { Headers } from '../adapters/all/support/walk-users.js';
import { frameworks } from '../rest/rest-app.js';
import { Issuer, bearer } from './issuer.js';

/** They go over WebSockets. */
const SUBSCRIPTIONS = new Set(['eventAppended', 'agentRun']);

const SERVICE = makeApiKey();
const SUPPORT = makeApiKey();

/** All routes, fields and methods that an app has registered, by what a request carries. */
describe.each(frameworks)('Four identities on %s', (framework) => {
  let app: WalkApp;
  let issuer: Issuer;
  /** An event in the stream of ann. */
  let place: string;

  beforeAll(async () => {
    issuer = await Issuer.start();
    const apiKeys = [
      { name: 'agents', hash: SERVICE.hash, preset: 'service' },
      { name: 'desk', hash: SUPPORT.hash, preset: 'support' },
    ] as const;
    app = await WalkApp.start(
      framework,
      { imports: [SessionsInspectorModule.forRoot()] },
      { auth: { jwt: issuer.options, apiKeys } },
    );
    await plant(app);
    await askApproval(app, 's', { ...bearer(await issuer.token('ann')), 'x-user': 'ann' });
    place = await plantServers(app);
  });
  afterAll(() => Promise.all([app.close(), issuer.close()]));

  const reached = async (headers: Headers): Promise<unknown> => ({
    routes: await walkRoutes(app, headers),
    fields: await walkFields(app, headers),
    methods: await walkMethods(app, headers),
    stream: (await walkStream(app, place, headers)).answers.filter((answer) => answer.includes(SECRET)),
  });
  /** What a browser sends after its reader has signed in on the page of the inspector. */
  const viaInspector = async (credential: string): Promise<Headers> => {
    const response = await fetch(`${app.url}/inspector/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ credential }),
    });
    const [cookie = ''] = response.headers.get('set-cookie')?.split(';') ?? [];
    return cookie === '' ? {} : { cookie, 'sec-fetch-site': 'same-origin' };
  };
  const NOTHING = { routes: [], fields: [], methods: { shown: [], changed: [] }, stream: [] };

  it('anonymous: reaches nothing', async () => {
    expect(await reached({})).toEqual(NOTHING);
  });

  it.each([
    ['expired', { exp: 1_000 }],
    ['for another audience', { aud: 'bank' }],
    ['of another issuer', { iss: 'https://evil.example/' }],
  ])('with a token that is %s: reaches nothing', async (_what, claims) => {
    const token = await issuer.token('ann', claims);
    expect(await reached(bearer(token))).toEqual(NOTHING);
    expect(await viaInspector(token)).toEqual({});
    expect(await walkRoutes(app, { cookie: `__Host-agent-sessions=${token}` })).toEqual([]);
  });

  it('a client: reaches nothing of another one', async () => {
    expect(await reached({ ...bearer(await issuer.token('bob')), 'x-user': 'bob' })).toEqual(NOTHING);
  });

  it('a client of the inspector: reaches what is theirs, and nothing of another one', async () => {
    const bob = { ...(await viaInspector(await issuer.token('bob'))), 'x-user': 'bob' };
    expect(await walkRoutes(app, bob)).toEqual([]);
    expect(await walkFields(app, bob)).toEqual([]);
    const ann = { ...(await viaInspector(await issuer.token('ann'))), 'x-user': 'ann' };
    expect((await walkAsOwner(app, ann, 'client')).shown.length).toBeGreaterThan(5);
    const { shown, refused } = await walkFieldsAsOwner(app, ann, 'client');
    expect(shown).toEqual(expect.arrayContaining(['session', 'eventAppended']));
    expect(refused.filter((field) => SUBSCRIPTIONS.has(field))).toEqual([]);
  });

  it('the cookie of the inspector with a page of another origin: reaches nothing', async () => {
    const { cookie = '' } = await viaInspector(SERVICE.key);
    // Of these, one may open a WebSocket, with a sign-in of its own.
    for (const origin of ['https://evil.example', 'null', OTHER_PAGE])
      expect(await walkFields(app, { cookie, origin })).toEqual([]);
  });

  it('support by the inspector: reads what others have, and changes nothing', async () => {
    const headers = { ...(await viaInspector(SUPPORT.key)), 'x-user': 'desk' };
    const routes = await walkRoutes(app, headers);
    expect(routes.filter((found) => found.endsWith('changes it'))).toEqual([]);
    expect(routes.filter((found) => found.endsWith('shows it')).length).toBeGreaterThan(5);
    const fields = await walkFields(app, headers);
    expect(fields.filter((found) => found.endsWith('changes it'))).toEqual([]);
    expect(fields).toContain('eventAppended shows it');
  });

  it('a service by the inspector: reaches everything of everybody', async () => {
    const headers = { ...(await viaInspector(SERVICE.key)), 'x-user': 'ann' };
    expect((await walkAsOwner(app, headers, 'page')).refused).toEqual([]);
    expect((await walkFieldsAsOwner(app, headers, 'page')).refused).toEqual([]);
  });

  it('support: reads what others have, and changes nothing', async () => {
    const headers = { ...bearer(SUPPORT.key), 'x-user': 'desk' };
    const routes = await walkRoutes(app, headers);
    expect(routes.filter((found) => !found.startsWith('GET '))).toEqual([
      'POST /apps/:appName/users/:userId/ag-ui/connect answers 200',
    ]);
    expect(routes.filter((found) => found.endsWith('shows it')).length).toBeGreaterThan(5);
    const fields = await walkFields(app, headers);
    expect(fields.filter((found) => found.endsWith('changes it'))).toEqual([]);
    expect(fields.filter((found) => found.endsWith('shows it')).length).toBeGreaterThan(5);
    expect((await walkMethods(app, headers)).changed).toEqual([]);
  });

  it('a service: reaches everything of everybody', async () => {
    const headers = { ...bearer(SERVICE.key), 'x-user': 'ann' };
    expect((await walkAsOwner(app, headers)).refused).toEqual([]);
    expect((await walkFieldsAsOwner(app, headers)).refused).toEqual([]);
  });
});
