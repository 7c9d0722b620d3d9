import { AnnotationInvalidError } from './errors.ts'
import { fewWords, mostWords } from './words.ts'

/** The annotations of an object as they are in its metadata. */
export type Annotations = Readonly<Record<string, string>>

/**
 * One annotation: its key, and how its text and its value become each other.
 *
 * Anybody may write a text of 256 KiB. Reading it takes no longer than 20 times what reading it as JSON takes, and what is
 * kept of it is at most twice its size: what would be more is refused.
 */
export interface Annotation<T> {
  readonly key: string
  /** @throws AnnotationInvalidError */
  parse(text: string): T
  format(value: T): string
  /**
   * Parses the annotation out of all of an object; `undefined` when it is not there.
   *
   * @throws AnnotationInvalidError
   */
  read(annotations: Annotations | undefined): T | undefined
}

/**
 * Makes an annotation out of its key and two functions.
 *
 * `parse` gets the key as the field to name in its errors; whatever it throws becomes an AnnotationInvalidError.
 */
export function annotation<T>(
  key: string,
  parse: (text: string, field: string) => T,
  format: (value: T) => string,
): Annotation<T> {
  function parseNamed(text: string): T {
    try {
      return parse(text, key)
    } catch (cause) {
      if (cause instanceof AnnotationInvalidError) throw cause
      throw new AnnotationInvalidError({ field: key, value: text, cure: cureOf(cause) }, { cause })
    }
  }
  return {
    key,
    parse: parseNamed,
    format,
    read(annotations) {
      const text = annotations?.[key]
      return text === undefined ? undefined : parseNamed(text)
    },
  }
}

/** Any text, as it is. */
export function textAnnotation(key: string): Annotation<string> {
  return annotation(
    key,
    (text) => text,
    (value) => value,
  )
}

/** `true` means true, anything else false. */
export function flagAnnotation(key: string): Annotation<boolean> {
  return annotation(key, (text) => text === 'true', String)
}

/** Names separated by commas, {@link mostWords} at most; blanks around them and empty ones do not count. */
export function namesAnnotation(key: string): Annotation<readonly string[]> {
  return annotation(key, splitNames, (names) => names.join(','))
}

/** @throws AnnotationInvalidError naming `field` when there are more than {@link mostWords} */
export function splitNames(text: string, field: string): readonly string[] {
  const names = fewWords(text, ',')
  if (names !== undefined) return names
  throw new AnnotationInvalidError({ field, value: text, cure: `list at most ${mostWords}` })
}

function cureOf(cause: unknown): string {
  const details: unknown = cause instanceof Error && 'details' in cause ? cause.details : undefined
  const isTold =
    typeof details === 'object' && details !== null && 'cure' in details && typeof details.cure === 'string'
  return isTold ? String(details.cure) : 'write a value of the documented form, or remove the annotation'
}
