import { render } from 'ink'
import { createElement } from 'react'
import type { ClusterFacts } from '../facts.ts'
import { statusView, type StatusView } from '../view/status-view.ts'
import { TopView } from './top-view.ts'

export interface Terminal {
  readonly stdout: NodeJS.WriteStream
  readonly stdin: NodeJS.ReadStream
  /** Only where the user's environment does not forbid it. */
  readonly isColoured: boolean
}

/** A terminal that shows the state until the user ends it. */
export class TopScreen implements Disposable {
  /** Resolves when the user has ended it, or it was closed. */
  readonly ended: Promise<unknown>
  readonly #factsOf: () => ClusterFacts
  readonly #listeners = new Set<() => void>()
  readonly #app: ReturnType<typeof render>
  #view: StatusView | undefined

  /** Shows nothing before the first {@link refresh}. */
  constructor(factsOf: () => ClusterFacts, { stdout, stdin, isColoured }: Terminal) {
    this.#factsOf = factsOf
    const live = {
      current: () => this.#view,
      subscribe: (listener: () => void) => {
        this.#listeners.add(listener)
        return () => void this.#listeners.delete(listener)
      },
    }
    const options = { stdout, stdin, exitOnCtrlC: true, alternateScreen: true }
    this.#app = render(createElement(TopView, { live, isColoured }), options)
    this.ended = this.#app.waitUntilExit()
  }

  /** Shows what the facts are now. */
  refresh(): void {
    this.#view = statusView(this.#factsOf(), Date.now())
    for (const listener of this.#listeners) listener()
  }

  [Symbol.dispose](): void {
    this.#app.unmount()
  }
}
