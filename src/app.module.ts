import { type DynamicModule, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { AppConfig } from './config/app.config.js';
import { HealthController } from './health.controller.js';
import { SessionService } from './sessions/session.service.js';
import { TypeOrmSessionStorage } from './sessions/storage/typeorm/index.js';

/** The app that `npm start` runs: sessions in a SQLite file, and a health check. */
@Module({})
export class AppModule implements OnApplicationShutdown {
  static register({ databaseFile }: AppConfig): DynamicModule {
    return {
      module: AppModule,
      controllers: [HealthController],
      providers: [
        {
          provide: SessionService,
          useFactory: async () => {
            const storage = new TypeOrmSessionStorage({ database: databaseFile });
            // At the start, so that a file that cannot be used stops it.
            await storage.open();
            return new SessionService({ storage });
          },
        },
      ],
    };
  }

  constructor(private readonly sessions: SessionService) {}

  async onApplicationShutdown(): Promise<void> {
    await this.sessions.close();
  }
}
