const macPattern = /\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/gi

/** Replaces in a text what differs from run to run. */
export interface Names {
  apply(text: string): string
}

/** Gives generated MAC addresses names after their owners, so that two runs can be compared. */
export class MacNames implements Names {
  /** Addresses that the manifests of the case contain: they are not generated and stay as they are. */
  readonly #given: ReadonlySet<string>
  readonly #names = new Map<string, string>()

  constructor(manifests: string) {
    this.#given = new Set(macsIn(manifests))
  }

  /** Names every address in the text. The first owner of an address keeps it. */
  learn(text: string, owner: string): void {
    for (const mac of macsIn(text)) {
      if (!this.#given.has(mac) && !this.#names.has(mac)) this.#names.set(mac, `<mac:${owner}>`)
    }
  }

  /** Replaces every address by its name. */
  apply(text: string): string {
    return text.replaceAll(macPattern, (found) => {
      const mac = found.toLowerCase()
      const isMulticast = mac.startsWith('33:33')
      return this.#given.has(mac) || isMulticast ? found : (this.#names.get(mac) ?? '<mac:?>')
    })
  }
}

function macsIn(text: string): readonly string[] {
  return [...text.matchAll(macPattern)].map(([mac]) => mac.toLowerCase())
}
