// The app's own @Cron removes what has expired. Without one, `cleanup: '0 3 * * *'` lets SessionsModule make the job.
import 'reflect-metadata';
import { Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, CronExpression, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { SessionService, SessionsCleanup, SessionsModule } from 'nestjs-agent-sessions';

let now = Date.UTC(2026, 0, 1);

@Injectable()
class Nightly {
  constructor(@Inject(SessionsCleanup) private readonly cleanup: SessionsCleanup) {}

  @Cron(CronExpression.EVERY_DAY_AT_3AM, { name: 'nightly', timeZone: 'Europe/Berlin' })
  async removeExpired(): Promise<void> {
    console.log('removed', await this.cleanup.run()); // on one instance at a time, in batches
  }
}

@Module({
  imports: [
    ScheduleModule.forRoot(),
    SessionsModule.forRoot({
      provider: 'memory',
      clock: { now: () => now }, // a day passes at once here; leave it out, and it is the clock of the machine
      ttl: { enabled: true, sessionSeconds: 86_400 },
      cleanup: false, // no job of the module
    }),
  ],
  providers: [Nightly],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const sessions = app.get(SessionService);
await sessions.createSession({ appName: 'shop', userId: 'ann', sessionId: 'order-7' });
now += 2 * 86_400_000;

const jobs = app.get(SchedulerRegistry);
console.log('jobs   ', [...jobs.getCronJobs().keys()], jobs.getIntervals());
await jobs.getCronJob('nightly').fireOnTick(); // as at three o'clock
await app.close();
