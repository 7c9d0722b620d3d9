import { KubeOvnError } from '@kube-ovn/errors'
import type { Sink, SinkKind, SinkPlan, Wanted } from './sink.ts'

/** Lines that should be on a board: as simple as a sink can be. */
export interface Lines {
  readonly board: string
  readonly lines: readonly string[]
}

export class BadLineError extends KubeOvnError<{ readonly line: string }> {
  readonly code = 'bad-line'
  readonly retry = 'on-change'
}

function boards(name: string): SinkKind<Lines> {
  return {
    name,
    targets: ({ board }) => [board],
    validate({ lines }) {
      for (const line of lines) if (line === 'bad') throw new BadLineError('line is bad', { line })
    },
  }
}

/** A node of boards that anybody may write on, and that may refuse to be written on. */
export class BoardSink implements Sink<Lines> {
  readonly kind: SinkKind<Lines>
  readonly actual = new Map<string, readonly string[]>()
  readonly writes: string[] = []
  plans = 0
  failure: Error | undefined
  /** Resolves when writing may go on. */
  gate: Promise<void> = Promise.resolve()
  /** Boards that bear our mark. */
  marked: readonly string[] = []
  #listener: (target: string | undefined) => void = () => undefined

  constructor(name: string) {
    this.kind = boards(name)
  }

  plan(target: string, { claims, isComplete }: Wanted<Lines>): SinkPlan {
    this.plans++
    const present = this.actual.get(target) ?? []
    const wanted = claims.flatMap(({ fragment }) => fragment.lines)
    const kept = isComplete ? [] : present.filter((line) => !wanted.includes(line))
    const lines = [...wanted, ...kept]
    if (lines.join() === present.join()) return { changes: [], carryOut: () => undefined }
    return {
      changes: [`${target}: ${lines.join()}`],
      carryOut: async () => {
        await this.gate
        if (this.failure !== undefined) throw this.failure
        this.writes.push(target)
        this.actual.set(target, lines)
        this.#listener(target)
      },
    }
  }

  owned(): readonly string[] {
    return this.marked.filter((board) => (this.actual.get(board) ?? []).length > 0)
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    this.#listener = listener
    return { [Symbol.dispose]: () => (this.#listener = () => undefined) }
  }

  /** Somebody else writes. */
  scribble(target: string, ...lines: readonly string[]): void {
    this.actual.set(target, lines)
    this.#listener(target)
  }
}
