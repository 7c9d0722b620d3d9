/** Rounds without an answer after which a node counts as silent. */
const missedLimit = 4
/** Rounds with an answer in a row after which it does not any more. */
const answeredLimit = 4

interface Seen {
  readonly isSilent: boolean
  /** Rounds in a row without an answer, or with one. */
  readonly missed: number
  readonly answered: number
}

const unknown: Seen = { isSilent: false, missed: 0, answered: 0 }

/**
 * Judges from answers in rounds which nodes are gone.
 *
 * Only who has answered before can fall silent: a firewall may drop the question. A round in which less than half of these answer
 * says nothing of any of them: rather is it the one who asks that is cut off. Who is not asked for a while is not silent, and may
 * be as soon as he is asked again.
 */
export class GatewayAnswers {
  readonly #seen = new Map<string, Seen>()

  get silent(): readonly string[] {
    return [...this.#seen].filter(([, { isSilent }]) => isSilent).map(([node]) => node)
  }

  /** Takes an answer as soon as it comes, before its round is over: from now on its node can fall silent. */
  answered(node: string): void {
    if (!this.#seen.has(node)) this.#seen.set(node, unknown)
  }

  /** That a node has ever answered says nothing any more. */
  forget(node: string): void {
    this.#seen.delete(node)
  }

  /** Takes who of those that were asked did answer. */
  round(answers: ReadonlyMap<string, boolean>): void {
    for (const [node, isAnswer] of answers) if (isAnswer) this.answered(node)
    const asked = [...this.#seen.keys()].filter((node) => answers.has(node))
    const isTrusted = asked.filter((node) => answers.get(node) === true).length * 2 >= asked.length
    for (const [node, before] of this.#seen)
      this.#seen.set(node, judged(before, answers.get(node), isTrusted))
  }
}

/** @param isAnswer absent of a node that was not asked */
function judged(before: Seen, isAnswer: boolean | undefined, isTrusted: boolean): Seen {
  if (isAnswer === undefined) return unknown
  if (isAnswer) return answeredBy(before)
  return isTrusted ? missedBy(before) : before
}

function answeredBy({ isSilent, answered }: Seen): Seen {
  const times = answered + 1
  return { isSilent: isSilent && times < answeredLimit, missed: 0, answered: times }
}

function missedBy({ isSilent, missed }: Seen): Seen {
  const times = missed + 1
  return { isSilent: isSilent || times >= missedLimit, missed: times, answered: 0 }
}
