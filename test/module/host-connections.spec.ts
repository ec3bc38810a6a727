import { SessionService, SessionsModule } from '../../src/index.js';
import { KEY, ROUND_TRIP, roundTrip, shownBy, startApp } from './support/apps.js';
import { hostOf } from './support/hosts.js';
import { type Place, describePlacesWithConnections } from './support/places.js';

describePlacesWithConnections('connections of the app to $name', ({ open }) => {
  let place: Place;

  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.remove());

  it.each([{ connection: undefined }, { connection: 'agents' }])(
    'serve sessions and stay open: $connection',
    async ({ connection }) => {
      const host = hostOf(place, connection);
      const app = await startApp([
        host.module,
        SessionsModule.forRootAsync({
          inject: [host.token],
          useFactory: (connected: object) => host.settingsOf(connected),
        }),
      ]);
      const sessions = app.get(SessionService, { strict: false });
      const key = { ...KEY, sessionId: `over-${connection ?? 'default'}` };
      await roundTrip(sessions, key);
      await sessions.close();
      await expect(shownBy(sessions, key)).rejects.toThrow('closed');
      await expect(host.use(app)).resolves.not.toThrow();
      await app.close();

      const others = place.look();
      expect(others && (await shownBy(others, key))).toEqual(ROUND_TRIP);
      await others?.close();
    },
  );

  it('stay open until the last operation ends', async () => {
    const host = hostOf(place);
    const app = await startApp([
      host.module,
      SessionsModule.forRootAsync({
        inject: [host.token],
        useFactory: (connected: object) => host.settingsOf(connected),
      }),
    ]);
    const sessions = app.get(SessionService, { strict: false });
    const session = await sessions.createSession({ ...KEY, sessionId: 'closing' });
    const events = Array.from({ length: 20 }, (_, index) => ({
      author: 'agent',
      actions: { stateDelta: { [`app:${index}`]: index } },
    }));
    const appends = Promise.all(events.map((event) => sessions.appendEvent({ session, event })));
    const [stored] = await Promise.all([appends, app.close()]);
    expect(stored).toHaveLength(20);
  });
});
