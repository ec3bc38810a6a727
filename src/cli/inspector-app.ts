import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionsInspectorModule } from '../inspector/index.js';
import {
  SessionAccess,
  type AuditOptions,
  type AccessRequest,
  type AccessUser,
  SessionsRestModule,
  protectFromOtherSites,
} from '../sessions/rest/index.js';
import { SessionService } from '../sessions/session.service.js';

/** How the page is reached, and what it may do. */
export interface InspectorAppOptions {
  /** The first part of each path. */
  readonly secret: string;
  readonly port: number;
  readonly writes: boolean;
  /** Where it is noted what the page asks. */
  readonly audit?: AuditOptions | undefined;
}

/** A page that runs. */
export interface RunningInspector {
  readonly url: string;
  close(): Promise<void>;
}

/** Everything, or only what changes nothing. */
class InspectorAccess extends SessionAccess<AccessUser | undefined> {
  override readonly acceptsAnonymous = true;

  constructor(private readonly writes: boolean) {
    super();
  }

  allows({ action }: AccessRequest<AccessUser | undefined>): boolean {
    return this.writes || action === 'read' || action === 'list';
  }

  override allowsWrite(): boolean {
    return this.writes;
  }

  /** Who has the store has its prompts. */
  override allowsPrompts(): boolean {
    return true;
  }
}

/** Serves the inspector and the routes that it reads, to this machine. */
export async function startInspector(
  sessions: SessionService,
  { secret, port, writes, audit }: InspectorAppOptions,
): Promise<RunningInspector> {
  @Module({
    imports: [
      SessionsRestModule.forRoot({ access: new InspectorAccess(writes), audit }),
      SessionsInspectorModule.forRoot({ actions: writes ? ['append', 'rewind', 'fork', 'delete'] : false }),
    ],
  })
  class InspectorAppModule {}

  @Module({
    imports: [InspectorAppModule, GivenSessions.of(sessions)],
  })
  class RootModule {}

  const app = await NestFactory.create(RootModule, {
    logger: ['error', 'warn'],
    abortOnError: false,
    forceCloseConnections: true,
  });
  app.setGlobalPrefix(secret);
  // No page of another site may read the store of this machine.
  protectFromOtherSites(app);
  await app.listen(port, '127.0.0.1');
  return { url: `${await app.getUrl()}/${secret}/inspector`, close: () => app.close() };
}

/** The service that the command has opened, and closes. */
@Module({})
class GivenSessions {
  static of(sessions: SessionService) {
    return {
      module: GivenSessions,
      global: true,
      providers: [{ provide: SessionService, useValue: sessions }],
      exports: [SessionService],
    };
  }
}
