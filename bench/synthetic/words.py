"""Topics, methods and sentences of synthetic papers. All texts are our own."""

# Fields, with the topics below them.
TOPICS = {
    "Deep Learning": (
        "Architectures",
        "Generative Models",
        "Graph Networks",
        "Large Language Models",
        "Self-Supervision",
    ),
    "Optimization": ("Bilevel", "Convex", "Non-Convex", "Stochastic"),
    "Reinforcement Learning": ("Multi-Agent", "Offline", "Planning", "Bandits"),
    "Theory": ("Generalization", "Learning Theory", "Game Theory", "Privacy"),
    "Probabilistic Methods": ("Bayesian Inference", "Causality", "Gaussian Processes", "Monte Carlo"),
    "Applications": ("Climate", "Computer Vision", "Health", "Language", "Robotics", "Speech", "Chemistry"),
    "Systems": ("Compilers", "Hardware", "Distributed Training", "Serving"),
    "Society": ("Accountability", "Fairness", "Safety", "Interpretability"),
}
METHODS = (
    "Contrastive Pretraining", "Sparse Attention", "Score Matching", "Natural Gradients", "Neural Operators", "Low-Rank Adapters",
    "Optimal Transport", "Diffusion Models", "Mixture-of-Experts Routing", "Kernel Thinning", "Speculative Decoding", "Graph Transformers",
    "Equivariant Networks", "Thompson Sampling", "Variational Inference", "Sharpness-Aware Minimization", "State-Space Models",
    "Conformal Prediction", "Preference Optimization", "Token Merging", "Quantized Gradients", "Tree Search", "Flow Matching",
    "Federated Averaging", "Retrieval Augmentation", "Hypernetworks", "Proximal Point Methods", "Influence Functions",
    "Curriculum Distillation", "World Models", "Invariant Risk Minimization", "Sketching", "Active Learning", "Successor Features",
)  # fmt: skip
GOALS = (
    "Long Contexts", "Protein Design", "Noisy Labels", "Partial Observability", "Distribution Shift", "Heavy-Tailed Noise", "Edge Devices",
    "Weather Forecasting", "Code Generation", "Tabular Data", "Low-Resource Languages", "Medical Imaging", "Adversarial Agents",
    "Continual Learning", "Cold-Start Recommendation", "Point Clouds", "Delayed Feedback", "Unbalanced Classes", "Molecular Dynamics",
    "Tool Use", "Video Understanding", "Private Aggregation", "Combinatorial Auctions", "Multilingual Dialogue", "Spiking Hardware",
    "Time Series with Gaps", "Simulation-Based Inference", "Robotic Grasping", "Sparse Rewards", "Mathematical Reasoning",
)  # fmt: skip
QUALITIES = (
    "Provable", "Efficient", "Scalable", "Robust", "Calibrated", "Unreasonably Simple", "Adaptive", "Communication-Efficient",
    "Certified", "Lightweight", "Anytime", "Parameter-Free", "Memory-Bounded", "Interpretable", "Minimax-Optimal", "Self-Correcting",
)  # fmt: skip
TEX = (
    r"$\ell_1$-Regularised", r"$O(n \log n)$", r"$(\varepsilon, \delta)$-Private", r"$\mathrm{SE}(3)$-Equivariant", r"$k$-Sparse",
    r"$\beta$-Smooth", r"$p$-Laplacian", r"$\mathbb{R}^d$-Valued",
)  # fmt: skip
TITLES = (
    "{quality} {method} for {goal}", "{method} Meets {goal}", "On the Limits of {method} under {goal}", "{method} and {method2} for {goal}",
    "How Much {method} Does {goal} Need?", "{name}: {quality} {method} for {goal}", "Rethinking {method} in {goal}",
    "{quality} {goal} via {method}", "{goal} without {method}", "{name}: Scaling {method} to {goal}", "{tex} {method} for {goal}",
    "From {method} to {method2}: A Study of {goal}", "What Does {method} Learn about {goal}?", "{tex} Bounds for {method}",
)  # fmt: skip
SENTENCES = (
    "Many approaches to {goal} rely on {method}, although little is known about when this is justified.",
    "We study {goal} through the lens of {method} and ask which of its ingredients are needed.",
    "Recent progress in {method} has changed how {goal} is approached in practice.",
    "We introduce {name}, a {quality} procedure that combines {method} with {method2}.",
    "The central difficulty is that the objective is neither smooth nor bounded from below.",
    r"Our estimator attains the rate $O(1/\sqrt{{n}})$ without knowledge of the noise level $\sigma^2$.",
    r"For any $\varepsilon > 0$ the number of queries grows as $\tilde{{O}}(d^2/\varepsilon)$, which matches the lower bound up to logarithms.",
    r"Formally, we minimise $\mathbb{{E}}_{{x \sim p}}[\ell(f_\theta(x), y)] + \lambda \lVert \theta \rVert_2^2$ over a compact set.",
    "In contrast to earlier work, no assumption on the geometry of the data is made.",
    "Training takes {number} hours on one accelerator, less than a tenth of the strongest baseline.",
    "On {number} public benchmarks the error falls by {share} % on average, and never rises by more than one point.",
    "An ablation shows that most of the gain comes from {method2}, not from additional parameters.",
    "We further prove that the procedure converges from any start, and that the constant cannot be improved.",
    "A user study with {number} participants confirms that the explanations are understood as intended.",
    "Surprisingly, a model trained at a cost of $5 to $20 is as good as one that is a hundred times larger.",
    "These results hold across seeds, model sizes and languages.",
    "We release code, models and all raw measurements at https://example.org/{name}.",
    "Failure cases are analysed, and we discuss what they mean for deployment.",
    "The analysis rests on a new concentration inequality that may be of independent interest.",
    "We conclude with open problems around {goal}.",
)
TRACKS = {"Main track": 88, "Position papers": 5, "Datasets and benchmarks": 7}
SPONSORS = (
    ("Cedar AI", "Diamond"), ("Harbour Research", "Diamond"), ("Silverbirch Capital", "Platinum"), ("Nimbus Compute", "Platinum"),
    ("Quarry Chips", "Gold"), ("Papermill", "Gold"), ("Lantern Health", "Gold"), ("Oxbow Robotics", "Silver"), ("Tessera Labs", "Silver"),
)  # fmt: skip
CITIES = (
    ("Seoul", "South Korea", "Asia/Seoul"), ("Vienna", "Austria", "Europe/Vienna"), ("Vancouver", "Canada", "America/Vancouver"),
    ("Sydney", "Australia", "Australia/Sydney"), ("Nairobi", "Kenya", "Africa/Nairobi"), ("Lisbon", "Portugal", "Europe/Lisbon"),
    ("Kathmandu", "Nepal", "Asia/Kathmandu"), ("Santiago", "Chile", "America/Santiago"), ("Honolulu", "United States", "Pacific/Honolulu"),
)  # fmt: skip
PAGES = (
    ("venue", "Venue", "A short walk from the station.\n\n## Getting there\n\nTrains run all night."),
    ("code-of-conduct", "Code of Conduct", "Be kind. Say who you are. *Ask before you record.*"),
)
ANNOUNCEMENTS = (
    ("schedule", "The schedule is out", "All sessions have their rooms now."),
    ("boards", "Poster boards", "Boards are 2 m wide."),
)
