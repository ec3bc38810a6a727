import { ConfigurableModuleBuilder, type DynamicModule, Logger, Module, type ModuleMetadata } from '@nestjs/common';
import { SERVED_SESSIONS } from '../../adapter.js';
import { AgentSessions, sessionsOfAgents } from '../../agents/index.js';
import type { SessionService } from '../../index.js';
import type { ChatSessionsOptions } from './chat-options.js';
import { ChatSessions } from './chat-sessions.js';

/** Settings of {@link ChatsModule}. */
export type ChatsModuleOptions = Omit<ChatSessionsOptions, 'sessions' | 'agents' | 'onError'>;

const CHATS_OPTIONS = Symbol('CHATS_OPTIONS');

interface Extras {
  readonly isGlobal?: boolean;
  /** The modules that provide `SessionService` and `AgentSessions`, if they are not global. */
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
}

const { ConfigurableModuleClass, OPTIONS_TYPE } = new ConfigurableModuleBuilder<ChatsModuleOptions>({
  moduleName: 'Chats',
  optionsInjectionToken: CHATS_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setExtras<Extras>({ isGlobal: false, imports: [] }, (definition, { isGlobal, imports = [] }) => ({
    ...definition,
    global: isGlobal ?? false,
    imports: [...new Set([...(definition.imports ?? []), ...imports])],
  }))
  .build();

/**
 * Provides {@link ChatSessions} over `SessionsModule` and `AgentsModule`.
 *
 * @example
 * imports: [
 *   SessionsModule.forRoot({ provider: 'redis', redis: { url }, isGlobal: true }),
 *   AgentsModule.forRoot({ isGlobal: true }),
 *   ChatsModule.forRoot({ tools, isGlobal: true }),
 * ];
 */
@Module({
  providers: [
    { provide: ChatSessions, useFactory: chatsOver, inject: [SERVED_SESSIONS, AgentSessions, CHATS_OPTIONS] },
    sessionsOfAgents,
  ],
  exports: [ChatSessions],
})
export class ChatsModule extends ConfigurableModuleClass {
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    return super.forRoot(options);
  }
}

function chatsOver(sessions: SessionService, agents: AgentSessions, options: ChatsModuleOptions): ChatSessions {
  const logger = new Logger(ChatSessions.name);
  const onError = (error: unknown): void =>
    logger.error('A chat could not be read whole', error instanceof Error ? error.stack : String(error));
  return new ChatSessions({ ...options, sessions, agents, onError });
}
