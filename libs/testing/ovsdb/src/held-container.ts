import type { Duplex } from 'node:stream'
import { GenericContainer, PullPolicy, Wait } from 'testcontainers'
import { connectEngine, untilRemoved } from './engine.ts'
import { holderLabel } from './unstarted.ts'

/**
 * A container that is held by this process, and does not outlive it.
 *
 * Its first process must end when its standard input does. That is a connection from this process to the engine: when
 * this process ends, however that happens, the kernel closes it, and the engine removes the container.
 *
 * So there is no need for the reaper of testcontainers, which is a container with the engine's socket in it and a port
 * on every address of the machine, from an image that must be pulled, and which takes ten seconds to act.
 */
export class HeldContainer extends GenericContainer {
  #input: Duplex | undefined

  /** `image` must be on this machine. */
  constructor(image: string) {
    super(image)
    this.withAutoCleanup(false)
      .withPullPolicy(PullPolicy.neverPull())
      .withLabels({ 'kube-ovn.test': '1', [holderLabel]: String(process.pid) })
      // It is ready when it runs. By default the image would be asked for a health check, and ports be tried.
      .withWaitStrategy(Wait.forAll([]))
    this.createOpts.OpenStdin = true
    this.createOpts.StdinOnce = true
    this.hostConfig.AutoRemove = true
  }

  /** Removes a container that was started. It may have ended by itself. */
  release(id: string): Promise<void> {
    return untilRemoved(id, () => void this.#input?.destroy())
  }

  /** Takes hold of it before it is started, so that it never runs without being held. */
  protected override async containerCreated(id: string): Promise<void> {
    const { container } = await connectEngine()
    const attached = await container.getById(id).attach({ stream: true, stdin: true, hijack: true })
    this.#input = attached as Duplex
    // The container may end first, by a fault that a test injects.
    this.#input.on('error', () => undefined)
  }
}
