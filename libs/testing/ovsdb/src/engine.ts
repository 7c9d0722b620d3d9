import type { Readable } from 'node:stream'
import { type ContainerRuntimeClient, getContainerRuntimeClient } from 'testcontainers'
import { ping } from './ping.ts'
import { removeUnstarted } from './unstarted.ts'

const defaultAddress = 'unix:///var/run/docker.sock'

/** An engine on a machine that has too much to do takes some seconds to answer. */
const patienceMs = 30_000

let connection: Promise<ContainerRuntimeClient> | undefined

/**
 * Connects to the Docker engine of this machine, once in a process.
 *
 * Throws {@link EngineUnavailableError}.
 */
export function connectEngine(): Promise<ContainerRuntimeClient> {
  connection ??= connect()
  return connection
}

async function connect(): Promise<ContainerRuntimeClient> {
  try {
    // testcontainers waits for an answer for ever, and goes on to another engine when this one is not there.
    await ping(process.env['DOCKER_HOST'] ?? defaultAddress, patienceMs)
    const [engine] = await Promise.all([getContainerRuntimeClient(), removeUnstarted()])
    return engine
  } catch (error) {
    connection = undefined
    throw error
  }
}

/** Says whether there is a container of this id or name. */
export async function hasContainer(container: string): Promise<boolean> {
  const engine = await connectEngine()
  try {
    await engine.container.getById(container).inspect()
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** Does something, after which the engine removes a container, and resolves when it has. */
export async function untilRemoved(container: string, act: () => void): Promise<void> {
  const engine = await connectEngine()
  // Not by a request that waits for its removal: the engine may never answer one that comes while it removes the container.
  const filters = { container: [container], event: ['destroy'] }
  const events = (await engine.container.dockerode.getEvents({ filters })) as Readable
  try {
    act()
    if (await hasContainer(container)) await events[Symbol.asyncIterator]().next()
  } finally {
    events.destroy()
  }
}

/** Says whether an engine refused a request because there is no such thing. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && error.statusCode === 404
}
