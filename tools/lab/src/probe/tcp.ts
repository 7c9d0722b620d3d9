import { bracketed } from '../cluster/topology.ts'
import { tryAt, type Place } from '../namespaces.ts'

/** Fetches a page over HTTP from each address and returns those that answered with success. */
export async function fetchAll(
  from: Place,
  addresses: readonly string[],
  port: number,
): Promise<ReadonlySet<string>> {
  const answers = await Promise.all(
    addresses.map(async (address) => {
      const url = `http://${bracketed(address)}:${port}/`
      const { exitCode } = await tryAt(from, ['curl', '-sS', '-f', '-m', '3', '-o', '/dev/null', url])
      return exitCode === 0 ? [address] : []
    }),
  )
  return new Set(answers.flat())
}

/** Fetches a page and returns its text, or undefined if there was no answer within three seconds. */
export async function fetchText(from: Place, address: string, port: number): Promise<string | undefined> {
  const url = `http://${bracketed(address)}:${port}/`
  const { exitCode, stdout } = await tryAt(from, ['curl', '-sS', '-f', '-m', '3', url])
  return exitCode === 0 ? stdout.trim() : undefined
}

/**
 * Asks a listener that answers with the caller's address which one it sees.
 *
 * @returns the address in canonical form, or undefined if there was no answer within three seconds
 */
export async function askSourceAddress(
  from: Place,
  address: string,
  port: number,
): Promise<string | undefined> {
  const family = address.includes(':') ? 'TCP6' : 'TCP4'
  const { stdout } = await tryAt(
    from,
    ['socat', '-T', '3', '-', `${family}:${bracketed(address)}:${port},connect-timeout=3`],
    {
      input: '',
    },
  )
  const text = stdout.trim().replace(/^\[|\]$/g, '')
  if (text === '') return undefined
  return text.includes(':') ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : text
}
