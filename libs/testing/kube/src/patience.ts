/** How long a server may take for what it does by itself, on a machine that is busy with other things; ms. */
export const PATIENCE_MS = 60_000
