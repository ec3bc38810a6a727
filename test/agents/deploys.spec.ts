import {
  Controller,
  type DynamicModule,
  Global,
  type INestApplication,
  Injectable,
  Logger,
  Module,
  type ModuleMetadata,
  type OnModuleDestroy,
  type OnModuleInit,
  Scope,
} from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import {
  type Agent,
  type AgentContext,
  AgentHandler,
  AgentRegistry,
  AgentsModule,
  type AgentsModuleOptions,
  type RunHandler,
} from '../../src/agents/index.js';
import { SessionsHealth } from '../../src/health/index.js';
import { InMemorySessionStorage, SessionsModule } from '../../src/index.js';
import { until } from '../support/until.js';
import { KEY } from './support/agent-app.js';
import { HeldHandler, text } from './support/handlers.js';

/** What was destroyed. */
const destroyed: string[] = [];
let held: HeldHandler;

/** Closes its pool like the connections of an app. */
@Injectable()
class Orders implements OnModuleDestroy {
  #isOpen = true;

  ask(): string {
    if (!this.#isOpen) throw new Error('pool is closed');
    return 'shoes';
  }

  onModuleDestroy(): void {
    this.#isOpen = false;
    destroyed.push('orders');
  }
}

@Module({ providers: [Orders], exports: [Orders] })
class OrdersModule {}

@Global()
@Module({ providers: [Orders], exports: [Orders] })
class GlobalOrdersModule {}

@Injectable({ scope: Scope.TRANSIENT })
class OrdersOfEach extends Orders {}

@Injectable()
@AgentHandler(KEY.appName)
class Support implements Agent {
  constructor(private readonly orders: Orders) {}

  async *run(context: AgentContext): ReturnType<RunHandler> {
    yield* held.handler(context);
    yield text(this.orders.ask());
  }
}

/** An agent that is registered in code. */
@Injectable()
class InCode implements OnModuleInit {
  constructor(
    private readonly registry: AgentRegistry,
    private readonly orders: Orders,
  ) {}

  onModuleInit(): void {
    const support = new Support(this.orders);
    this.registry.register({ app: KEY.appName }, (context) => support.run(context));
  }
}

@Controller()
class OrdersController implements OnModuleDestroy {
  onModuleDestroy(): void {
    destroyed.push('controller');
  }
}

class Store extends InMemorySessionStorage implements OnModuleDestroy {
  onModuleDestroy(): void {
    destroyed.push('store');
  }

  override async close(): Promise<void> {
    destroyed.push('store is closed');
    await super.close();
  }
}

@Module({ imports: [OrdersModule], providers: [Support] })
class Feature {}
@Module({ providers: [Support, Orders] })
class Together {}
@Module({ providers: [Support, { provide: Orders, useClass: OrdersOfEach }] })
class OfEach {}
@Module({ providers: [InCode, Orders], controllers: [OrdersController] })
class CodeModule {}

const feature = (): DynamicModule => AgentsModule.forFeature([Support], { imports: [OrdersModule] });
const agents = (options: AgentsModuleOptions & { isGlobal?: boolean } = {}): DynamicModule =>
  AgentsModule.forRoot({ isGlobal: true, drainMs: 60_000, ...options });
const sessions = SessionsModule.forRoot({ provider: 'memory', isGlobal: true });

describe('an app with agents that closes', () => {
  beforeEach(() => {
    destroyed.length = 0;
    held = new HeldHandler([], []);
  });

  it.each<[string, ModuleMetadata]>([
    ['of the module of its agents', { imports: [sessions, agents(), feature()] }],
    ['of the app', { imports: [sessions, agents(), OrdersModule, feature()] }],
    ['of a module without `forFeature`', { imports: [sessions, agents(), Feature] }],
    ['of agents that are not global', { imports: [sessions, agents({ isGlobal: false }), Feature] }],
    ['beside the agent', { imports: [sessions, agents(), Together] }],
    ['beside the agent in the root module', { imports: [sessions, agents()], providers: [Support, Orders] }],
    ['of modules before those of the agents', { imports: [Feature, sessions, agents()] }],
    ['of a global module', { imports: [sessions, GlobalOrdersModule, agents(), AgentsModule.forFeature([Support])] }],
    ['of a global module after that of agents', { imports: [sessions, agents(), GlobalOrdersModule, Together] }],
    ['that are transient', { imports: [sessions, agents(), OfEach] }],
    ['of an agent that is registered in code', { imports: [sessions, agents(), CodeModule] }],
  ])('lets runs finish before it destroys providers %s', async (_place, metadata) => {
    const { app, run } = await open(metadata);
    const closed = app.close();
    await until(() => isClosing(app));
    expect(destroyed).toEqual([]);
    held.release();
    expect(await run.result).toMatchObject({ status: 'completed', events: [text('shoes')] });
    await closed;
    expect(destroyed).toContain('orders');
  });

  it('does so after a signal', async () => {
    const { app, run } = await open({ imports: [sessions, agents(), feature()] });
    const kill = jest.spyOn(process, 'kill');
    const killed = new Promise<void>((resolve) => kill.mockImplementation(() => (resolve(), true)));
    app.enableShutdownHooks(['SIGUSR2']);
    process.emit('SIGUSR2');
    await until(() => isClosing(app));
    held.release();
    expect(await run.result).toMatchObject({ status: 'completed', events: [text('shoes')] });
    await killed;
    kill.mockRestore();
    expect(destroyed).toEqual(['orders']);
  });

  it('hands over what is still at work, and closes the store after that', async () => {
    const custom = SessionsModule.forRoot({ storage: Store, isGlobal: true });
    const { app, run } = await open({ imports: [custom, agents({ drainMs: 0 }), feature()] });
    void run.result.catch(() => destroyed.push('run'));
    await app.close();
    await expect(run.result).rejects.toMatchObject({ code: 'AGENTS_CLOSING' });
    expect(destroyed).toEqual(['run', 'orders', 'store', 'store is closed']);
  });

  it('says that it is closing while runs finish', async () => {
    const { app } = await open({
      imports: [sessions, agents(), feature(), TerminusModule],
      providers: [SessionsHealth],
    });
    const closed = app.close();
    await until(() => isClosing(app));
    await expect(app.get(SessionsHealth).isHealthy('store')).resolves.toMatchObject({ store: { status: 'down' } });
    held.release();
    await closed;
  });

  it('warns of a provider that cannot wait', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const frozen = { provide: 'frozen', useFactory: () => Object.freeze(new Orders()) };
    const { app } = await open({ imports: [sessions, agents(), feature()], providers: [frozen] });
    expect(warn.mock.calls).toEqual([['Orders is frozen, so its onModuleDestroy does not wait for the end of runs']]);
    warn.mockRestore();
    held.release();
    await app.close();
  });
});

async function open(metadata: ModuleMetadata) {
  const module = await Test.createTestingModule(metadata).compile();
  const app = await module.createNestApplication().init();
  const run = app.get(AgentRegistry, { strict: false }).run({ ...KEY, newMessage: 'hi', invocationId: 'i-1' });
  await held.started;
  return { app, run };
}

/** Until then, another run holds the turn. */
async function isClosing(app: INestApplication): Promise<boolean> {
  const { result } = app.get(AgentRegistry, { strict: false }).run({ ...KEY, newMessage: 'new', policy: 'reject' });
  return result.then(
    () => false,
    (error: { readonly code?: unknown }) => error.code === 'AGENTS_CLOSING',
  );
}
