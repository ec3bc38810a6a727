import type { DiscoveryService } from '@nestjs/core';

/**
 * Why the app has no instance of a provider to call; `undefined` if it has one.
 *
 * @example
 * const problem = scopeProblem(wrapper);
 * if (problem !== undefined) throw new ConfigurationError([`The agent ${name} ${problem}`]);
 */
export function scopeProblem(provider: ReturnType<DiscoveryService['getProviders']>[number]): string | undefined {
  if (!provider.isDependencyTreeStatic())
    return 'must not be request-scoped, nor depend on what is: it works without a request.';
  // Nest lists an object that no constructor has seen, without what is injected.
  if (provider.isTransient) return 'must not be transient: those who inject it have instances, and the app has none.';
  return undefined;
}
