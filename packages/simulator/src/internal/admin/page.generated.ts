export const html = "<!doctype html><title>NONCE</title>"
