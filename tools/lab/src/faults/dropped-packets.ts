import { runAt, type Place } from '../namespaces.ts'

const table = 'inet lab_dropped'

/** Where packets are dropped, and which: in nft's words; an empty match is about all. */
type DroppedPackets = Partial<Record<'input' | 'output', readonly string[]>>

/** Has a network namespace drop packets, as long as the result lives; one set of them at a time. */
export async function dropPackets(place: Place, dropped: DroppedPackets): Promise<AsyncDisposable> {
  const chains = Object.entries(dropped).map(([hook, matches]) => {
    const rules = matches.map((match) => `${match} drop`).join('; ')
    return `chain ${hook} { type filter hook ${hook} priority 0; ${rules}; };`
  })
  await runAt(place, ['nft', '-f', '-'], { input: `table ${table} { ${chains.join(' ')} }\n` })
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      // A second time there is nothing to do.
      await runAt(place, ['nft', '-f', '-'], { input: `table ${table}; delete table ${table}\n` })
    },
  }
}
