/** Reads the answer to `memory/show`, e.g. `atoms:123 cells:456 monitors:1`: what a daemon has, by kind. */
export function parseMemoryUsage(text: string): ReadonlyMap<string, number> {
  return new Map([...text.matchAll(/([^\s:]+):(\d+)/g)].map(([, kind = '', count]) => [kind, Number(count)]))
}
