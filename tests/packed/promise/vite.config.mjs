export default { build: { ssr: "program.js", outDir: "with-vite", target: "node20" }, ssr: { noExternal: true } }
