import { InvalidInputError } from '../sessions/domain/errors/errors.js';
import { ComponentNotFoundError } from './component-errors.js';
import { ComponentSession, type ComponentSessionKey, identifierOf } from './component-session.js';
import { type SaveStateOptions, type StateModule, componentNameOf } from './state-module.js';

/**
 * Saves and loads several components of a session together, one after the other. Components of which nothing is saved stay
 * as they are.
 *
 * @example
 * const manager = ComponentManager.forSession('chat-1').in(components).add(agent, memory);
 * await manager.loadIfExists();
 * await manager.save();
 */
export class ComponentManager {
  readonly #session: string;
  readonly #modules: StateModule[] = [];
  #components: ComponentSession | undefined;

  private constructor(session: ComponentSessionKey) {
    this.#session = identifierOf(session);
  }

  static forSession(session: ComponentSessionKey): ComponentManager {
    return new ComponentManager(session);
  }

  /** Where the components are kept. */
  in(components: ComponentSession): this {
    if (!(components instanceof ComponentSession))
      throw new InvalidInputError('must be a ComponentSession', 'components');
    this.#components = components;
    return this;
  }

  add(...modules: readonly StateModule[]): this {
    const names = new Set(this.#modules.map(componentNameOf));
    for (const [index, each] of modules.entries()) {
      const problem = findModuleProblem(each, names);
      if (problem) throw new InvalidInputError(problem, `modules[${index}]`);
      names.add(componentNameOf(each));
    }
    this.#modules.push(...modules);
    return this;
  }

  exists(): Promise<boolean> {
    return this.#target().exists(this.#session);
  }

  /** Throws a {@link ComponentNotFoundError} if nothing of the session is saved. */
  async load(): Promise<void> {
    if (!(await this.loadIfExists())) throw new ComponentNotFoundError(this.#session);
  }

  async loadIfExists(): Promise<boolean> {
    const components = this.#target();
    if (!(await components.exists(this.#session))) return false;
    for (const each of this.#modules) await each.loadIfExists(components, this.#session);
    return true;
  }

  async save(options?: SaveStateOptions): Promise<void> {
    const components = this.#target();
    for (const each of this.#modules) await each.saveTo(components, this.#session, options);
  }

  /** Saves only if something of the session is saved already. Returns whether it did. */
  async saveIfExists(options?: SaveStateOptions): Promise<boolean> {
    const isThere = await this.exists();
    if (isThere) await this.save(options);
    return isThere;
  }

  /** Throws a {@link ComponentNotFoundError} if nothing of the session is saved. */
  async delete(): Promise<void> {
    if (!(await this.deleteIfExists())) throw new ComponentNotFoundError(this.#session);
  }

  async deleteIfExists(): Promise<boolean> {
    const isThere = await this.exists();
    if (isThere) await this.#target().delete(this.#session);
    return isThere;
  }

  #target(): ComponentSession {
    if (this.#components) return this.#components;
    throw new InvalidInputError('is missing: say where the components are kept, with in(components)', 'components');
  }
}

/** The second of two with the same name would replace what the first has saved. */
function findModuleProblem(
  module: Partial<StateModule> | undefined,
  names: ReadonlySet<string | undefined>,
): string | undefined {
  if (typeof module?.saveTo !== 'function' || typeof module.loadIfExists !== 'function')
    return 'must have saveTo and loadIfExists';
  const name = componentNameOf(module as StateModule);
  if (name === undefined || !names.has(name)) return undefined;
  return `is the second one with the name ${JSON.stringify(name)}: give it a name of its own with StateModuleOf`;
}
