const NEWLINE = 0x0a

/**
 * Splits a stream of bytes into lines of text, without the line ends; empty lines are dropped.
 *
 * A line is joined and decoded once it is complete, so a long line that comes in many chunks costs no more than its
 * length. An unfinished last line is dropped: the stream was cut.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let pending: Uint8Array[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start)
      if (end < 0) break
      pending.push(chunk.subarray(start, end))
      const line = (
        pending.length === 1
          ? Buffer.from(chunk.buffer, chunk.byteOffset + start, end - start)
          : Buffer.concat(pending)
      ).toString('utf8')
      pending = []
      start = end + 1
      if (line !== '') yield line
    }
    if (start < chunk.length) pending.push(chunk.subarray(start))
  }
}
