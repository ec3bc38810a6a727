import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { type SessionsConfig, sessionsConfig } from '../../src/config/index.js';
import {
  SessionService,
  SessionsModule,
  type SessionsModuleOptions,
  type SessionsOptionsFactory,
} from '../../src/index.js';
import { ROUND_TRIP, roundTrip, shownBy, startApp, withVariables } from './support/apps.js';
import { type Place, describePlaces } from './support/places.js';

let chosen: SessionsModuleOptions = { provider: 'memory' };

@Injectable()
class ChosenOptions implements SessionsOptionsFactory {
  async createSessionsOptions(): Promise<SessionsModuleOptions> {
    return chosen;
  }
}

@Module({ providers: [ChosenOptions], exports: [ChosenOptions] })
class ChosenOptionsModule {}

/** All ways to configure the store. */
const ways: readonly (readonly [title: string, make: (place: Place) => DynamicModule])[] = [
  ['forRoot', ({ settings }) => SessionsModule.forRoot(settings)],
  ['forRootAsync with a factory', ({ settings }) => SessionsModule.forRootAsync({ useFactory: async () => settings })],
  [
    'forRootAsync with ConfigService',
    () =>
      SessionsModule.forRootAsync({
        imports: [ConfigModule.forRoot({ load: [sessionsConfig], ignoreEnvFile: true })],
        inject: [ConfigService],
        useFactory: (config: ConfigService) => config.getOrThrow<SessionsConfig>('sessions'),
      }),
  ],
  ['forRootAsync with the sessionsConfig', () => SessionsModule.forRootAsync(sessionsConfig.asProvider())],
  ['forRootAsync with a class', () => SessionsModule.forRootAsync({ useClass: ChosenOptions })],
  [
    'forRootAsync with useExisting',
    () => SessionsModule.forRootAsync({ imports: [ChosenOptionsModule], useExisting: ChosenOptions }),
  ],
];

describePlaces('SessionsModule with $name', ({ name, open }) => {
  let place: Place;
  let restoreVariables: () => void;

  beforeAll(async () => {
    place = await open();
    chosen = place.settings;
    restoreVariables = withVariables(place.env);
  });

  afterEach(async () => {
    const sessions = place.look();
    await sessions?.deleteSession({ appName: 'shop', userId: 'ann', sessionId: 'order-7' });
    await sessions?.close();
  });

  afterAll(async () => {
    restoreVariables();
    await place.remove();
  });

  /** Another service finds what the app stored. */
  const expectKept = async (): Promise<void> => {
    const others = place.look();
    if (!others) return;
    expect(await shownBy(others)).toEqual(ROUND_TRIP);
    await others.close();
  };

  it.each(ways)('is configured by %s and closes what it opened', async (_title, make) => {
    const app = await startApp([make(place)]);
    const sessions = app.get(SessionService, { strict: false });
    await roundTrip(sessions);
    await app.close();
    await expectKept();
    if (name !== 'memory') await expect(shownBy(sessions)).rejects.toThrow('closed');
  });
});
