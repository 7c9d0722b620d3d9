import type { AnnouncementProblem } from '@kube-ovn/features-speaker'
import type { Logger } from '@kube-ovn/log'

/** Logs what is wrong once, when it comes and when it is over, however often it is found. */
export class ToldProblems {
  readonly #log: Logger
  #told = new Map<string, AnnouncementProblem>()

  constructor(log: Logger) {
    this.#log = log
  }

  tell(problems: readonly AnnouncementProblem[]): void {
    const found = new Map(problems.map((problem) => [JSON.stringify(problem), problem]))
    for (const [text, { object, field, value, cure }] of found)
      if (!this.#told.has(text))
        this.#log.warn('nothing is announced of an object', { object, field, value, cure })
    for (const [text, { object, field }] of this.#told)
      if (!found.has(text)) this.#log.info('an object is right again', { object, field })
    this.#told = found
  }
}
