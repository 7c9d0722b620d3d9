/** Cuts a stream of JSON objects, one after the other, into their texts. */
export class JsonSplitter {
  readonly #decoder = new TextDecoder()
  #text = ''
  #depth = 0
  #isInString = false
  #isEscaped = false

  push(chunk: Uint8Array): readonly string[] {
    const texts: string[] = []
    for (const character of this.#decoder.decode(chunk, { stream: true })) {
      this.#text += character
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#isInString) {
        if (character === '\\') this.#isEscaped = true
        else if (character === '"') this.#isInString = false
      } else if (character === '"') this.#isInString = true
      else if (character === '{') this.#depth++
      else if (character === '}' && --this.#depth === 0) {
        texts.push(this.#text)
        this.#text = ''
      }
    }
    return texts
  }
}
