import { PortsNotRemovedError } from './errors.ts'

/**
 * Removes ports one after the other. One that can not be removed does not keep the others.
 *
 * @throws PortsNotRemovedError that names those which are still there
 */
export async function removeEach<Port extends { readonly name: string }>(
  ports: Iterable<Port>,
  remove: (port: Port) => Promise<void>,
): Promise<void> {
  const failures = new Map<string, unknown>()
  for (const port of ports) {
    try {
      await remove(port)
    } catch (error) {
      failures.set(port.name, error)
    }
  }
  if (failures.size === 0) return
  const [cause] = failures.values()
  throw new PortsNotRemovedError({ ports: [...failures.keys()] }, { cause })
}
